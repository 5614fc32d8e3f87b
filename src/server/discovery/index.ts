export { Discovery } from './discovery.ts'
export { compareVersions } from './order.ts'
export { documented, servedBy } from './served.ts'
