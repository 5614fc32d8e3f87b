export { endpoint } from './controller.ts'
