/** The prefix of all objects in the store. */
export const registryPrefix = '/registry/'

/**
 * Kinds outside of the core group that kube-apiserver 1.36 stores without their group; our keys are the same. Only
 * Kubernetes' own kinds are listed: a custom resource in one of these groups is stored by group.
 */
const ungrouped: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io': [
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
  ],
  apps: ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  autoscaling: ['horizontalpodautoscalers'],
  batch: ['cronjobs', 'jobs'],
  'certificates.k8s.io': ['certificatesigningrequests', 'clustertrustbundles', 'podcertificaterequests'],
  'coordination.k8s.io': ['leasecandidates', 'leases'],
  'discovery.k8s.io': ['endpointslices'],
  'events.k8s.io': ['events'],
  'flowcontrol.apiserver.k8s.io': ['flowschemas', 'prioritylevelconfigurations'],
  'internal.apiserver.k8s.io': ['storageversions'],
  'networking.k8s.io': ['ingressclasses', 'ingresses', 'ipaddresses', 'networkpolicies', 'servicecidrs'],
  'node.k8s.io': ['runtimeclasses'],
  policy: ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io': ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  'resource.k8s.io': [
    'deviceclasses',
    'devicetaintrules',
    'resourceclaims',
    'resourceclaimtemplates',
    'resourcepoolstatusrequests',
    'resourceslices',
  ],
  'scheduling.k8s.io': ['podgroups', 'priorityclasses', 'workloads'],
  'storage.k8s.io': [
    'csidrivers',
    'csinodes',
    'csistoragecapacities',
    'storageclasses',
    'volumeattachments',
    'volumeattributesclasses',
  ],
  'storagemigration.k8s.io': ['storageversionmigrations'],
}

/** Kubernetes' kinds whose keys differ from their plural name. */
const otherNames: Readonly<Record<string, string>> = {
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
}

/** The prefix of a kind's keys: `/registry/pods/`, `/registry/example.com/widgets/`. */
export function keyPrefix(group: string, plural: string): string {
  const isUngrouped = group === '' || (Object.hasOwn(ungrouped, group) && ungrouped[group]!.includes(plural))
  if (!isUngrouped) return `${registryPrefix}${group}/${plural}/`
  return `${registryPrefix}${Object.hasOwn(otherNames, plural) ? otherNames[plural]! : plural}/`
}

const groupOfPlural = new Map(
  Object.entries(ungrouped).flatMap(([group, plurals]) => plurals.map((plural): [string, string] => [plural, group])),
)
// Events of both groups are stored under the core group.
groupOfPlural.delete('events')
const pluralOfName = new Map(Object.entries(otherNames).map(([plural, name]): [string, string] => [name, plural]))

/** The kind of a key. Groups that are not Kubernetes' own contain a dot, plurals do not. */
export function resourceOfKey(key: string): { group: string; plural: string } {
  const [first = '', second = ''] = key.slice(registryPrefix.length).split('/', 2)
  if (first.includes('.') || (second !== '' && Object.hasOwn(ungrouped, first))) return { group: first, plural: second }
  const plural = pluralOfName.get(`${first}/${second}`) ?? pluralOfName.get(first) ?? first
  return { group: groupOfPlural.get(plural) ?? '', plural }
}

/** The parts of a registered kind that determine its keys. */
interface Place {
  readonly prefix: string
  readonly resource: { readonly group: string; readonly plural: string }
}

/**
 * Throws if one kind's prefix is a prefix of another's, because a range would then return objects of both. Therefore no
 * kind has `/registry/services/`, while `/registry/services/specs/` and `/registry/services/endpoints/` are valid.
 */
export function assertSeparate(place: Place, others: Iterable<Place>): void {
  for (const other of others) {
    if (!place.prefix.startsWith(other.prefix) && !other.prefix.startsWith(place.prefix)) continue
    const name = ({ resource: { group, plural }, prefix }: Place): string =>
      `${group ? `${plural}.${group}` : plural} (${prefix})`
    throw new Error(`${name(place)} cannot be stored beside ${name(other)}: their keys would mix`)
  }
}

/**
 * Finds the entry of a key in a map by prefix. A prefix has one or two segments after `/registry/`. None is a prefix of
 * another, so the first match is the only one.
 */
export function findByKey<T>(byPrefix: ReadonlyMap<string, T>, key: string): T | undefined {
  const first = key.indexOf('/', registryPrefix.length) + 1
  const found = byPrefix.get(key.slice(0, first))
  return found ?? byPrefix.get(key.slice(0, key.indexOf('/', first) + 1))
}
