// A small API and requests to it, for tests.
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { KubeObject } from '../../../api/object.ts'
import { pathSegmentName } from '../../../api/validation/names.ts'
import { allowEverything, type Authorizer } from '../../auth/authorize.ts'
import type { ObjectReader } from '../../objects/objects.ts'
import { Registry } from '../../registry/registry.ts'
import { type PartialUpdate, defineResource } from '../../registry/resource.ts'
import type { Action } from '../../subresources/action.ts'
import type { AdmissionOperation, AdmissionRequest } from '../admission.ts'

const plain = {
  version: 'v1',
  namespaced: true,
  nameRule: pathSegmentName,
  validate: () => [],
  validateUpdate: () => [],
}
const status = {} as PartialUpdate<KubeObject>
const renamed = (from: string, to: string) => (object: KubeObject) => {
  const { [from]: value, ...rest } = object as unknown as Record<string, unknown>
  return { ...rest, ...(value === undefined ? {} : { [to]: value }) } as unknown as KubeObject
}
const eviction = {
  of: { group: '', plural: 'pods', subresource: 'eviction' },
  verbs: ['create'],
  kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
}

/**
 * Pods, namespaces, nodes, and widgets in two versions of one group and one version of another: v2 renames the field
 * `width` of v1 to `size`.
 */
export const sampleRegistry = new Registry(
  [
    defineResource({ ...plain, group: '', kind: 'Pod', plural: 'pods', status }),
    defineResource({ ...plain, group: '', kind: 'Namespace', plural: 'namespaces', namespaced: false }),
    defineResource({ ...plain, group: '', kind: 'Node', plural: 'nodes', namespaced: false }),
    defineResource({ ...plain, group: 'x.io', kind: 'Widget', plural: 'widgets', status }),
    defineResource({
      ...plain,
      group: 'x.io',
      version: 'v2',
      kind: 'Widget',
      plural: 'widgets',
      status,
      storedAs: {
        group: 'x.io',
        version: 'v1',
        plural: 'widgets',
        toStored: renamed('size', 'width'),
        fromStored: renamed('width', 'size'),
      },
    }),
    defineResource({
      ...plain,
      group: 'y.io',
      kind: 'Gadget',
      plural: 'gadgets',
      storedAs: { group: 'x.io', version: 'v1', plural: 'widgets', toStored: (o) => o, fromStored: (o) => o },
    }),
    defineResource({
      ...plain,
      group: 'admissionregistration.k8s.io',
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      namespaced: false,
    }),
  ],
  [eviction as unknown as Action],
)

export interface SampleRequest {
  /** Example: `v1 pods/status`. */
  of?: string
  operation?: AdmissionOperation
  name?: string
  namespace?: string
  labels?: Record<string, string>
  oldLabels?: Record<string, string>
  object?: object
  old?: object
  /** The existing namespaces with their labels. */
  namespaces?: Record<string, Record<string, string>>
  authorizer?: Authorizer
  options?: Record<string, unknown>
}

/** A request to the sample API. Default: the creation of the Pod `a` in the namespace `ns`. */
export function sampleRequest(given: SampleRequest = {}): AdmissionRequest {
  const {
    of = 'v1 pods',
    operation = 'CREATE',
    name = 'a',
    namespaces = { ns: {} },
    authorizer = allowEverything,
  } = given
  const [apiVersion = '', path = ''] = of.split(' ')
  const [plural = '', subresource = ''] = path.split('/')
  const target = sampleRegistry.find(apiVersion, plural)!
  const { group, version, kind, namespaced } = target.resource
  const namespace = given.namespace ?? (namespaced ? 'ns' : '')
  const sample = (labels: Record<string, string> | undefined, more: object | undefined): KubeObject => ({
    apiVersion,
    kind,
    metadata: { ...(name ? { name } : {}), ...(namespace ? { namespace } : {}), ...(labels ? { labels } : {}) },
    ...more,
  })
  const reader: ObjectReader = {
    get: (_group, kinds, _namespace, wanted) =>
      (kinds === 'namespaces' && Object.hasOwn(namespaces, wanted)
        ? { metadata: { name: wanted, labels: namespaces[wanted] } }
        : undefined) as never,
    list: () => [],
  }
  return {
    operation,
    resource: target.resource,
    subresource,
    namespace,
    name,
    object: operation === 'DELETE' ? undefined : sample(given.labels, given.object),
    old: operation === 'CREATE' ? undefined : sample(given.oldLabels, given.old),
    user: { name: 'someone', groups: ['developers'] },
    dryRun: false,
    warnings: [],
    reader,
    now: 0,
    origin: {
      target,
      registry: sampleRegistry,
      authorizer,
      type: target.type,
      rules: { gates: FeatureGates.of(), now: 0 },
      kind: target.actions.get(subresource)?.kind ?? { group, version, kind },
      options: () => given.options ?? { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
    },
  }
}
