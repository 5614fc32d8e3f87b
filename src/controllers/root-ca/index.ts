export { rootCaPublisher } from './controller.ts'
