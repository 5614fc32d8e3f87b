import type { CustomResourceColumnDefinition, CustomResourceDefinition } from '../../generated/types.ts'
import { kindNames } from '../../kind-names.ts'
import { type Schema, builtInSchema } from '../../structural/index.ts'

const column = (name: string, type: string, jsonPath: string, priority = 0): CustomResourceColumnDefinition => ({
  name,
  type,
  jsonPath,
  ...(priority ? { priority } : {}),
})

const columns: CustomResourceColumnDefinition[] = [
  column('DESIRED', 'integer', '.spec.replicas'),
  column('UPDATED', 'integer', '.status.updatedReplicas'),
  column('UPDATED_READY', 'integer', '.status.updatedReadyReplicas'),
  column('UPDATED_AVAILABLE', 'integer', '.status.updatedAvailableReplicas'),
  column('READY', 'integer', '.status.readyReplicas'),
  column('TOTAL', 'integer', '.status.replicas'),
  column('AGE', 'date', '.metadata.creationTimestamp'),
  column('CONTAINERS', 'string', '.spec.template.spec.containers[*].name', 1),
  column('IMAGES', 'string', '.spec.template.spec.containers[*].image', 1),
  column('SELECTOR', 'string', '.status.labelSelector', 1),
]

/** The defaults of Coxswain's own server that do not depend on other fields. */
const defaults: Record<string, unknown> = {
  'spec.replicas': 1,
  'spec.revisionHistoryLimit': 10,
  'spec.progressDeadlineSeconds': 600,
  'spec.scaleStrategy': {},
  'spec.updateStrategy': {},
  'spec.updateStrategy.type': 'ReCreate',
  'spec.updateStrategy.partition': 0,
  'spec.updateStrategy.maxUnavailable': '20%',
  'spec.updateStrategy.maxSurge': 0,
}

/** The CustomResourceDefinition of CloneSets v1alpha1, for API servers without the built-in kind. */
export function cloneSetDefinition(): CustomResourceDefinition {
  const { group, version, kind, plural, shortNames } = kindNames.clonesets
  // Below 256 KB, client-side apply works too, so the pod template has no descriptions.
  const schema = builtInSchema('CloneSet', (type) => /^(CloneSet|RollingUpdateCloneSet|InPlace|Lifecycle)/.test(type))
  // Metadata is the same for every object, so the schema omits it.
  schema.properties = {
    ...schema.properties,
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
  }
  for (const [path, value] of Object.entries(defaults)) fieldAt(schema, path).default = value
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        plural,
        singular: kind.toLowerCase(),
        kind,
        listKind: `${kind}List`,
        shortNames: [...(shortNames ?? [])],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.labelSelector',
            },
          },
          additionalPrinterColumns: columns,
        },
      ],
    },
  } as unknown as CustomResourceDefinition
}

function fieldAt(schema: Schema, path: string): Schema {
  let at = schema
  for (const name of path.split('.')) {
    const next = at.properties?.[name]
    if (!next) throw new Error(`a CloneSet has no ${path}`)
    at = next
  }
  return at
}
