export { csrApprovingController } from './approving.ts'
export { csrCleanerController } from './cleaning.ts'
export { csrSigningController } from './signing.ts'
