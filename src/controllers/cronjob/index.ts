export { cronJobController } from './controller.ts'
