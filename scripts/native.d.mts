export const ADDON: string;
