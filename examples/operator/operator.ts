import { type ApplyConfiguration, type ConfigMap, type Deployment, configmaps, deployments } from 'coxswain/client'
import { type Admission, type AdmissionRequest, type Step, defineController, indexing, watching } from 'coxswain/controllers'
import { type Website, websites } from './website.ts'

interface Observed {
  website: Website
  deployment: Deployment | undefined
  /** The owner of the domain, as `namespace/name`. */
  holder: string | undefined
}

type Action = { kind: 'Deploy' } | { kind: 'Register' } | { kind: 'Unregister' }

const keyOf = ({ metadata }: Website) => `${metadata.namespace}/${metadata.name}`

/** The part of a Deployment that the operator cares about. Others may add to it. */
function wanted({ metadata, spec }: Website): ApplyConfiguration<Deployment> {
  const labels = { website: metadata.name! }
  const container = { name: 'web', image: 'nginx:1.27', env: [{ name: 'PORT', value: String(spec.port) }, { name: 'DOMAIN', value: spec.domain }] }
  return { metadata: { name: metadata.name!, labels }, spec: { replicas: spec.replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } } }
}

function isAsWanted({ website: { spec }, deployment }: Observed): boolean {
  const env = deployment?.spec.template.spec?.containers[0]?.env?.map(({ value }) => value)
  return deployment?.spec.replicas === spec.replicas && env?.join() === `${spec.port},${spec.domain}`
}

/** Decides. Pure: what it knows is in `seen`, what it wants is data. */
export function plan(seen: Observed): Step<Action> {
  const isOurs = seen.holder === keyOf(seen.website)
  if (seen.website.metadata.deletionTimestamp) return { actions: isOurs ? [{ kind: 'Unregister' }] : [] }
  if (seen.holder && !isOurs) return { actions: [], wait: `${seen.holder} has the domain` }
  const actions: Action[] = []
  if (!isOurs) actions.push({ kind: 'Register' })
  if (!isAsWanted(seen)) actions.push({ kind: 'Deploy' })
  return { actions }
}

/** The records of all domains: one ConfigMap, of which each website applies one key. */
const records = (data: Record<string, string>): ApplyConfiguration<ConfigMap> => ({ metadata: { name: 'domains', namespace: 'default' }, data })

/** A website is a Deployment and a record of its domain, which goes before the website does. */
export const websiteController = defineController<Website, Observed, Action>({
  name: 'website',
  owner: websites,
  sources: {
    owns: [deployments],
    indexes: [indexing(websites, 'domain', ({ spec }) => [spec.domain])],
    watches: [watching(configmaps, ({ data }, caches) => Object.keys(data ?? {}).flatMap((domain) => caches.byIndex(websites, 'domain', domain).map(keyOf)))],
  },
  deletion: { finalizer: 'example.com/domain' },
  timing: { backOff: { maxDelayMs: 60_000 } },
  observe: ({ caches }, website) => ({
    website,
    deployment: caches.owned(deployments, website)[0],
    holder: caches.get(configmaps, 'default', 'domains')?.data?.[website.spec.domain],
  }),
  plan,
  apply: {
    Deploy: ({ writer, owner }) => writer.apply(deployments, wanted(owner)),
    // Each website is a manager of its own: it removes its key and no other.
    Register: ({ writer, owner }) => writer.apply(configmaps, records({ [owner.spec.domain]: keyOf(owner) }), { fieldManager: `website ${owner.metadata.uid}`, force: false }),
    Unregister: ({ writer, owner }) => writer.apply(configmaps, records({}), { fieldManager: `website ${owner.metadata.uid}` }),
  },
  status: {
    compute: ({ website, deployment }, { wait }) => ({ ready: wait ?? `${deployment?.status?.readyReplicas ?? 0}/${website.spec.replicas}` }),
  },
})

/** The webhook's judgement, which needs more than a schema: a domain has a dot, and a small site is only warned about. */
export function judge({ object }: AdmissionRequest<Website>): Admission<Website> {
  if (!object) return {}
  if (!object.spec.domain.includes('.')) return { refused: `spec.domain: ${object.spec.domain} has no dot` }
  return object.spec.replicas === 1 ? { warnings: ['spec.replicas: one replica is none while it is replaced'] } : {}
}
