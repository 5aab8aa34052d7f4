# The devices of the lab's host, beside what its board and CPU cannot do without.
CONFIG_Q35=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_BLK=y
# Its instructions are counted: with it they are those of a PC as QEMU has it.
CONFIG_HPET=y
