export { CriRuntime, type CriRuntimeOptions } from './cri-runtime.ts'
export { findRuntime } from './find-endpoint.ts'
