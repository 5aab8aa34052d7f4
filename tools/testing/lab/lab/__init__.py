# SPDX-License-Identifier: GPL-2.0
"""What the lab's commands share; each module is about one noun."""
