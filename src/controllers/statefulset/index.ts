export { statefulSetController } from './controller.ts'
