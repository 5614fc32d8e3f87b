export { tokenCleaner } from './cleaner.ts'
export { bootstrapSigner } from './signer.ts'
