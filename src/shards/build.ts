/** Names this build: a hash of its sources, which the bundler puts here (scripts/bundle.mjs). Tests run the sources themselves. */

declare const NCCL_TRACE_BUILD: string | undefined;

export const BUILD = typeof NCCL_TRACE_BUILD === 'string' ? NCCL_TRACE_BUILD : 'sources';
