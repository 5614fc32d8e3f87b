import type { UserInfo } from '../server/index.ts'

const authenticated = 'system:authenticated'

/** The controllers' shared caches and their election. */
export const controllerManagerUser: UserInfo = { name: 'system:kube-controller-manager', groups: [authenticated] }

export const schedulerUser: UserInfo = { name: 'system:kube-scheduler', groups: [authenticated] }

/** The monitor of this process. It only reads. */
export const monitorUser: UserInfo = { name: 'coxswain:monitor', groups: [authenticated] }

/** The dashboard of this process reads for all of its viewers. What they do is theirs. */
export const dashboardUser: UserInfo = { name: 'coxswain:dashboard', groups: [authenticated] }

/** What the nodes of this process read together, where they are several. */
export const nodesUser: UserInfo = { name: 'coxswain:nodes', groups: [authenticated] }

/** One node of this process. */
export const nodeUser = (name: string): UserInfo => ({ name: `system:node:${name}`, groups: ['system:nodes', authenticated] })

/** A controller of this process: a service account of kube-system. */
export const accountUser = (name: string): UserInfo => ({
  name: `system:serviceaccount:kube-system:${name}`,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', authenticated],
})
