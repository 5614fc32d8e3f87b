import type { UserInfo } from '../server/index.ts'

/** Who the controllers of this process are to the API. */
export const controllerManagerUser: UserInfo = { name: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] }

/** Who the scheduler of this process is. */
export const schedulerUser: UserInfo = { name: 'system:kube-scheduler', groups: ['system:masters', 'system:authenticated'] }

/** Who the monitor of this process is. It only reads. */
export const monitorUser: UserInfo = { name: 'coxswain:monitor', groups: ['system:masters', 'system:authenticated'] }

/** Who a node of this process is. */
export const nodeUser = (name: string): UserInfo => ({ name: `system:node:${name}`, groups: ['system:nodes', 'system:masters', 'system:authenticated'] })
