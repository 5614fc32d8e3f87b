export { serviceCidrController } from './controller.ts'
