/* SPDX-License-Identifier: GPL-2.0 */
/* TURNS turns of two instructions, and four around them. */
	.globl _start
_start:
	mov	$TURNS, %ecx
1:	dec	%ecx
	jnz	1b
	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
