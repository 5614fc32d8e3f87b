import { describeField } from '../../../api/schema/descriptions.ts'
import type { CloneSet, CloneSetStatus, V1beta1CloneSet } from '../../../api/generated/types.ts'
import { labelSelectorText } from '../../../api/selectors/label-selector.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import type { Column } from '../../registry/resource.ts'
import { countColumn } from '../apps/workload-columns.ts'

type Either = CloneSet | V1beta1CloneSet

const ofStatus = (
  name: string,
  field: 'updatedReplicas' | 'updatedReadyReplicas' | 'updatedAvailableReplicas' | 'readyReplicas' | 'replicas',
): Column<Either> =>
  countColumn(name, 'CloneSetStatus', field satisfies keyof CloneSetStatus, (obj) => obj.status?.[field])

// OpenKruise's columns come from a custom resource definition, whose lists have spaces after commas.
const ofContainers = (name: string, description: string, field: 'name' | 'image'): Column<Either> => ({
  name,
  type: 'string',
  priority: 1,
  description,
  cell: ({ spec }) => spec.template.spec.containers.map((container) => container[field] ?? '').join(' '),
})

/** The columns of CloneSets of both versions. */
export const cloneSetColumns: Column<Either>[] = [
  nameColumn(),
  countColumn('DESIRED', 'CloneSetSpec', 'replicas', (obj) => obj.spec.replicas),
  ofStatus('UPDATED', 'updatedReplicas'),
  ofStatus('UPDATED_READY', 'updatedReadyReplicas'),
  ofStatus('UPDATED_AVAILABLE', 'updatedAvailableReplicas'),
  ofStatus('READY', 'readyReplicas'),
  ofStatus('TOTAL', 'replicas'),
  { ...ageColumn(), name: 'AGE' },
  ofContainers('CONTAINERS', 'The names of the containers.', 'name'),
  ofContainers('IMAGES', 'The images of the containers.', 'image'),
  {
    name: 'SELECTOR',
    type: 'string',
    priority: 1,
    description: () => describeField('CloneSetSpec', 'selector'),
    cell: ({ spec }) => labelSelectorText(spec.selector),
  },
]
