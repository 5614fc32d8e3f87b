import type { UserInfo } from '../../server/index.ts'

const authenticated = 'system:authenticated'

/** For the controllers' shared caches and their leader election. */
export const controllerManagerUser: UserInfo = { name: 'system:kube-controller-manager', groups: [authenticated] }

export const schedulerUser: UserInfo = { name: 'system:kube-scheduler', groups: [authenticated] }

/** The monitor of this process, which only reads. */
export const monitorUser: UserInfo = { name: 'coxswain:monitor', groups: [authenticated] }

/** The dashboard of this process, which reads for all viewers. Writes use the viewer's own identity. */
export const dashboardUser: UserInfo = { name: 'coxswain:dashboard', groups: [authenticated] }

/** Shared reads of several nodes in this process. */
export const nodesUser: UserInfo = { name: 'coxswain:nodes', groups: [authenticated] }

/** The Service proxy. */
export const serviceProxyUser: UserInfo = { name: 'system:kube-proxy', groups: [authenticated] }

/** The DNS server of this process. */
export const dnsUser: UserInfo = { name: 'coxswain:dns', groups: [authenticated] }

/** One node of this process. */
export const nodeUser = (name: string): UserInfo => ({
  name: `system:node:${name}`,
  groups: ['system:nodes', authenticated],
})

/** A controller of this process: a service account in kube-system. */
export const accountUser = (name: string): UserInfo => ({
  name: `system:serviceaccount:kube-system:${name}`,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', authenticated],
})
