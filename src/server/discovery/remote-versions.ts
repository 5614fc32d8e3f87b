import type { APIResource } from '../../api/generated/types.ts'
import type { Entry } from './entries.ts'
import { compareGroups, compareText, compareVersions, isRanked } from './order.ts'

/** A group version of an extension API server. */
export interface RemoteVersion {
  readonly group: string
  readonly version: string
  readonly spec: { groupPriorityMinimum: number; versionPriority: number }
  readonly isAvailable: boolean
  readonly resources: readonly APIResource[]
}

/** The discovery entries of an extension API server, each resource followed by its subresources. */
export function remoteEntries({ resources }: RemoteVersion): Entry[] {
  const entries = resources.map(({ name, singularName, ...rest }): Entry => {
    const [plural = '', subresource = ''] = name.split('/')
    return { ...rest, name: plural, subresource, singularName }
  })
  return entries.sort((a, b) => compareText(a.name, b.name) || compareText(a.subresource, b.subresource))
}

/** The priority of groups without an APIService of an extension API server: that of custom resources. */
const usualPriority = 1000

/** The order of groups and versions by the priorities of their APIServices. */
export function remoteOrder(remotes: readonly RemoteVersion[]) {
  const groupPriority = new Map<string, number>()
  const versionPriority = new Map<string, number>()
  for (const { group, version, spec } of remotes) {
    groupPriority.set(group, Math.max(groupPriority.get(group) ?? 0, spec.groupPriorityMinimum))
    versionPriority.set(`${group}/${version}`, spec.versionPriority)
  }
  const priorityOf = (group: string) => groupPriority.get(group) ?? usualPriority
  return {
    groups: (a: string, b: string): number =>
      isRanked(a) || isRanked(b) ? compareGroups(a, b) : priorityOf(b) - priorityOf(a) || compareText(a, b),
    versionsOf:
      (group: string) =>
      (a: string, b: string): number => {
        const rank = (version: string) => versionPriority.get(`${group}/${version}`) ?? 0
        return rank(b) - rank(a) || compareVersions(a, b)
      },
  }
}
