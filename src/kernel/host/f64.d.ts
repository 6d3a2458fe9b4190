/** The type of AssemblyScript in which the kernel describes its columns (kernel/result_rows.ts). */
declare type f64 = number;
