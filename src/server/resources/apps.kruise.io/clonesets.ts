import { kindNames } from '../../../api/kind-names.ts'
import type { CloneSet } from '../../../api/generated/types.ts'
import { podTemplateWarnings } from '../../../api/kinds/pods/pod-template.ts'
import type { KubeObject } from '../../../api/object.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { type Resource, defineResource } from '../../registry/resource.ts'
import { keepSpec, podNameWarnings, replicaScale } from '../apps/workload-rules.ts'
import { cloneSetColumns } from './cloneset-columns.ts'
import { defaultCloneSet } from './cloneset-defaults.ts'
import { type SharedSpec, rolloutOf } from './cloneset-spec.ts'
import { validateCloneSetSpec, validateCloneSetStatus, validateCloneSetUpdate } from './cloneset-validation.ts'
import { checkPodsToDelete } from './pods-to-delete.ts'

const templatePath = Path.of('spec', 'template')

function warningsOf(obj: Shared, old: Shared | undefined): string[] {
  if (!old) return [...podNameWarnings(obj.metadata), ...podTemplateWarnings(obj.spec.template, templatePath)]
  return obj.metadata.generation === old.metadata.generation
    ? []
    : podTemplateWarnings(obj.spec.template, templatePath, old.spec.template)
}

type Shared = KubeObject & { spec: SharedSpec; status: CloneSet['status'] }

/** The rules that both versions share. */
export const sharedRules = {
  nameRule: subdomainName,
  generation: true,
  begin: checkPodsToDelete,
  warnings: warningsOf,
  status: { prepare: keepSpec, validate: validateCloneSetStatus },
  scale: replicaScale<Shared>((obj) => obj.spec.selector),
} satisfies Partial<Resource<Shared>>

/** apps.kruise.io/v1alpha1 CloneSets, the storage version. */
export const clonesets = defineResource<CloneSet>({
  ...kindNames.clonesets,
  ...sharedRules,
  defaults: defaultCloneSet,
  validate: ({ spec }) => validateCloneSetSpec(spec, rolloutOf(spec)),
  validateUpdate: ({ spec }, old) => validateCloneSetUpdate(spec, old.spec, rolloutOf(spec)),
  columns: cloneSetColumns,
})
