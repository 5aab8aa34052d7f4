/* SPDX-License-Identifier: GPL-2.0 */
/* A loop of two instructions, TURNS times, and four instructions around it. */
	.globl _start
_start:
	mov	$TURNS, %ecx
1:	dec	%ecx
	jnz	1b
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
