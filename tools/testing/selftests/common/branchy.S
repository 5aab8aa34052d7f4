/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nine taken branches of every near kind, TURNS times, and one that is never taken. With an argument
 * it writes from where to where they go, and of what kind each is, as 64-bit numbers, in their order.
 * With AGAIN one of them is taken so many times in a turn, with YIELD it lets other tasks run in each turn.
 */
	.set RELCALL, 1
	.set RET, 2
	.set INDCALL, 3
	.set RELJMP, 4
	.set INDJMP, 5
	.set JCC, 6

	.globl _start
_start:	cmpl	$1, (%rsp)
	jne	list
	mov	$TURNS, %ebx
top:
b1:	call	f1
b3:	call	*%r12
b5:	jmp	1f
	ud2
1:	lea	2f(%rip), %rax
b6:	jmp	*%rax
	ud2
2:	xor	%ecx, %ecx
	jnz	never
b7:	jz	3f
never:	ud2
3:	mov	$AGAIN + 1, %ecx
b8:	loop	b8			/* taken AGAIN times */
#ifdef YIELD
	mov	$24, %eax		/* sched_yield() */
	syscall
#endif
	dec	%ebx
b9:	jnz	top
	jmp	end
f1:	lea	f2(%rip), %r12
b2:	ret
f2:	nop
b4:	ret

list:	mov	$1, %eax		/* write(1, ...) */
	mov	$1, %edi
	lea	ways(%rip), %rsi
	mov	$(ways_end - ways), %edx
	syscall
end:	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall

	.section .rodata
ways:	.quad	b1, f1, RELCALL
	.quad	b2, b3, RET
	.quad	b3, f2, INDCALL
	.quad	b4, b5, RET
	.quad	b5, 1b, RELJMP
	.quad	b6, 2b, INDJMP
	.quad	b7, 3b, JCC
	.quad	b8, b8, JCC
	.quad	b9, top, JCC
ways_end:
	.section .note.GNU-stack, "", @progbits
