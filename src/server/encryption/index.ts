export { readEncryptionConfiguration } from './config.ts'
export { EncryptedStore } from './encrypted-store.ts'
export { Encryption } from './encryption.ts'
export { TransformError, isEncrypted } from './transformers.ts'
