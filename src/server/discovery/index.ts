export { Discovery } from './discovery.ts'
export { compareGroups, compareVersions } from './order.ts'
export type { Served, VirtualKind } from './served.ts'
export { reviewKinds } from './served.ts'
