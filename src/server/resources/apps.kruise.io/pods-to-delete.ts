import type { Pod } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import type { ObjectReader } from '../../objects/objects.ts'
import type { SharedSpec } from './cloneset-spec.ts'

const path = Path.of('spec', 'scaleStrategy', 'podsToDelete')

type Scaled = KubeObject & { spec: SharedSpec }

const namesOf = (obj: Scaled | undefined): readonly string[] => obj?.spec.scaleStrategy.podsToDelete ?? []

function problemOf(pod: Pod | undefined, name: string, uid: string | undefined): string | undefined {
  if (!pod) return `find pod ${name} failed: pods "${name}" not found`
  if (pod.metadata.deletionTimestamp) return `find pod ${name} already terminating`
  const owner = pod.metadata.ownerReferences?.find((ref) => ref.controller)
  return owner && owner.uid === uid ? undefined : `find pod ${name} owner is not this CloneSet`
}

/**
 * Validates podsToDelete: names must be running pods of the set. Names that were present before are not checked again.
 */
export function checkPodsToDelete(
  obj: Scaled,
  old: Scaled | undefined,
  { reader }: { reader: ObjectReader },
): { errors: FieldError[]; finish(): void } {
  const before = new Set(namesOf(old))
  const { namespace = '', uid } = obj.metadata
  const errors = namesOf(obj).flatMap((name) => {
    const problem = before.has(name) ? undefined : problemOf(reader.get<Pod>('', 'pods', namespace, name), name, uid)
    return problem === undefined ? [] : [invalid(path, name, problem)]
  })
  return { errors, finish() {} }
}
