// Included by every file that calls one of these functions.
//
// When glibc 2.34 merged libpthread and libdl into libc, each function that moved got a new symbol version. A library
// built on such a system binds to the new version and cannot be loaded on an older system, though the function is the
// same. This file asks for the old version by name, which libc keeps for ever. A test checks the symbols of the library.

#pragma once

#if defined(__GLIBC__) || defined(__gnu_linux__)
#if defined(__x86_64__)
#define NCCL_TRACE_OLDEST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define NCCL_TRACE_OLDEST_GLIBC "GLIBC_2.17"
#endif
#endif

#ifdef NCCL_TRACE_OLDEST_GLIBC
__asm__(".symver pthread_create,pthread_create@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver pthread_mutex_trylock,pthread_mutex_trylock@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver pthread_key_create,pthread_key_create@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver dlopen,dlopen@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver dlclose,dlclose@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver dlsym,dlsym@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver dlerror,dlerror@" NCCL_TRACE_OLDEST_GLIBC);
__asm__(".symver pthread_setspecific,pthread_setspecific@" NCCL_TRACE_OLDEST_GLIBC);
#endif
