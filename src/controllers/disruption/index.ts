export { disruption } from './controller.ts'
export { staleDisruption } from './stale-target.ts'
