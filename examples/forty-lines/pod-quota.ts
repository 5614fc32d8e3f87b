import { type Namespace, type ResourceQuota, namespaces, resourcequotas } from 'coxswain/client'
import { type Step, defineController } from 'coxswain/controllers'

interface Observed {
  wanted: string | undefined
  quota: ResourceQuota | undefined
}

type Action = { kind: 'Create'; pods: string } | { kind: 'Change'; quota: ResourceQuota; pods: string } | { kind: 'Delete'; quota: ResourceQuota }

/** Decides. Pure: what it knows is in `seen`, what it wants is data. */
export function plan({ wanted, quota }: Observed): Step<Action> {
  if (!quota) return { actions: wanted ? [{ kind: 'Create', pods: wanted }] : [] }
  if (!wanted) return { actions: [{ kind: 'Delete', quota }] }
  return { actions: quota.spec?.hard?.pods === wanted ? [] : [{ kind: 'Change', quota, pods: wanted }] }
}

/** A namespace that says `example.com/pods: "10"` gets a quota of ten pods. */
export const podQuota = defineController<Namespace, Observed, Action>({
  name: 'pod-quota',
  owner: namespaces,
  sources: { owns: [resourcequotas] },
  observe: ({ caches }, namespace) => ({
    wanted: namespace.metadata.annotations?.['example.com/pods'],
    quota: caches.owned(resourcequotas, namespace)[0],
  }),
  plan,
  apply: {
    Create: ({ writer, owner }, { pods }) =>
      writer.create(resourcequotas, { metadata: { name: 'pods', namespace: owner.metadata.name }, spec: { hard: { pods } } }),
    Change: ({ writer }, { quota, pods }) => writer.update(resourcequotas, { ...quota, spec: { hard: { pods } } }),
    Delete: ({ writer }, { quota }) => writer.delete(resourcequotas, quota),
  },
})
