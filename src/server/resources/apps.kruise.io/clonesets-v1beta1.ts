import { kindNames } from '../../../api/kind-names.ts'
import type { CloneSet, V1beta1CloneSet } from '../../../api/generated/types.ts'
import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../registry/resource.ts'
import { cloneSetColumns } from './cloneset-columns.ts'
import { cloneSetFromV1beta1, cloneSetToV1beta1 } from './cloneset-conversion.ts'
import { defaultV1beta1CloneSet } from './cloneset-defaults.ts'
import { rolloutOfV1beta1 } from './cloneset-spec.ts'
import { validateCloneSetSpec, validateCloneSetUpdate } from './cloneset-validation.ts'
import { sharedRules } from './clonesets.ts'

const typePath = Path.of('spec', 'updateStrategy', 'type')

const validateType = ({ spec }: V1beta1CloneSet): FieldError[] => {
  const { type } = spec.updateStrategy
  return type === 'RollingUpdate' ? [] : [invalid(typePath, type, "must be 'RollingUpdate'")]
}

/** apps.kruise.io/v1beta1 CloneSets: the objects of v1alpha1, with the rollout parameters in their own structure. */
export const clonesetsV1beta1 = defineResource<V1beta1CloneSet>({
  ...kindNames.clonesetsV1beta1,
  ...sharedRules,
  type: 'V1beta1CloneSet',
  defaults: defaultV1beta1CloneSet,
  validate: (obj) => [...validateCloneSetSpec(obj.spec, rolloutOfV1beta1(obj.spec)), ...validateType(obj)],
  validateUpdate: (obj, old) => [
    ...validateCloneSetUpdate(obj.spec, old.spec, rolloutOfV1beta1(obj.spec)),
    ...validateType(obj),
  ],
  columns: cloneSetColumns,
  storedAs: {
    ...kindNames.clonesets,
    toStored: cloneSetFromV1beta1,
    fromStored: (obj) => cloneSetToV1beta1(obj as CloneSet),
  },
})
