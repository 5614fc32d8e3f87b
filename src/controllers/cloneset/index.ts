export { cloneSetController } from './controller.ts'
