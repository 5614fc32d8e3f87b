export { Discovery } from './discovery.ts'
export { compareGroups, compareVersions } from './order.ts'
export type { Served } from './served.ts'
export { documented, servedBy } from './served.ts'
