export { serviceAccountController } from './controller.ts'
