export function buildKernel(root: string, options?: { debug?: boolean }): Promise<void>;
