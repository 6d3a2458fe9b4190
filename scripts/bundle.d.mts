export function bundleCommand(root: string): Promise<void>;
export function transpileModules(root: string): Promise<void>;
