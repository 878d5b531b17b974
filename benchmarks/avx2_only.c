/* Lets programs believe that the processor has AVX2 and neither AVX-512 nor VNNI, to measure as on one of that kind.

       cc -O2 -shared -fPIC -o /tmp/avx2_only.so benchmarks/avx2_only.c
       LD_PRELOAD=/tmp/avx2_only.so python benchmarks/network.py

   Linux on an Intel processor whose flags have cpuid_fault: the instruction that asks for features raises a signal, and
   the answer is given here. Its clock and its caches stay what they are. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef ARCH_SET_CPUID
#define ARCH_SET_CPUID 0x1012
#endif
#define BIT(n) (1u << (n))

static void answer(int signum, siginfo_t *info, void *context) {
    (void)info;
    greg_t *at = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)at[REG_RIP];
    if (code[0] != 0x0f || code[1] != 0xa2) { /* another fault */
        signal(signum, SIG_DFL);
        return;
    }
    uint32_t leaf = at[REG_RAX], sub = at[REG_RCX], a = leaf, b, c = sub, d;
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
    if (leaf == 7 && sub == 0) { /* AVX-512, VNNI and AMX */
        b &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31));
        c &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));
        d &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25));
    } else if (leaf == 7 && sub == 1) { /* AVX-VNNI and its kin */
        a &= ~(BIT(4) | BIT(5));
        d = 0;
    }
    at[REG_RAX] = a, at[REG_RBX] = b, at[REG_RCX] = c, at[REG_RDX] = d;
    at[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, 0);
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0)) {
        static const char said[] = "avx2_only: this processor cannot be asked to hide its features\n";
        if (write(2, said, sizeof said - 1) < 0) _exit(1);
        _exit(1);
    }
}
