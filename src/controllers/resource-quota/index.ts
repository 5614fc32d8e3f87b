export { quotaControllerOf, resourceQuotaController } from './controller.ts'
export { customQuotaController } from './custom-kinds.ts'
export { countedKinds } from './observe.ts'
