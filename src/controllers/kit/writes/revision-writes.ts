import { deepEqual } from '../../../api/deep-equal.ts'
import { isAlreadyExists } from '../../../api/errors.ts'
import type { ControllerRevision, PodTemplateSpec } from '../../../api/generated/types.ts'
import type { Int64 } from '../../../api/numbers/int64.ts'
import type { KubeObject } from '../../../api/object.ts'
import { controllerrevisions } from '../../../client/index.ts'
import type { Appliers, ApplyContext } from '../definition.ts'
import { type RevisionStep, RevisionTakenError } from '../workload/index.ts'

/** An owner whose template has a history of ControllerRevisions. */
interface Templated extends KubeObject {
  spec: { template: PodTemplateSpec }
}

export type RevisionAction =
  | { kind: 'AdoptRevision'; revision: ControllerRevision }
  | { kind: 'CreateRevision'; name: string; data: unknown; hash: string; number: Int64 }
  | { kind: 'RenumberRevision'; revision: ControllerRevision; to: Int64 }
  | { kind: 'DeleteRevision'; revision: ControllerRevision }

/** The actions that make the current template the newest revision. */
export function revise(step: RevisionStep): RevisionAction[] {
  if (step.kind === 'Keep') return []
  if (step.kind === 'Renumber') return [{ kind: 'RenumberRevision', revision: step.revision, to: step.to }]
  const { name, data, hash, number } = step
  return [{ kind: 'CreateRevision', name, data, hash, number }]
}

/**
 * Appliers for revision actions. `hashLabel` is the label with a revision's hash, which differs between the controllers
 * of Kubernetes.
 */
export const revisionAppliers = (hashLabel: string): Appliers<Templated, RevisionAction> => ({
  AdoptRevision: ({ writer }, { revision }) => writer.adopt(controllerrevisions, revision),
  CreateRevision: (ctx, action) => createRevision(ctx, action, hashLabel),
  RenumberRevision: ({ writer }, { revision, to }) => writer.update(controllerrevisions, { ...revision, revision: to }),
  DeleteRevision: ({ writer }, { revision }) => writer.delete(controllerrevisions, revision),
})

type CreateRevision = Extract<RevisionAction, { kind: 'CreateRevision' }>

async function createRevision(
  { writer, owner }: ApplyContext<Templated>,
  { name, data, hash, number }: CreateRevision,
  hashLabel: string,
): Promise<void> {
  const labels = { ...owner.spec.template.metadata?.labels, [hashLabel]: hash }
  const { namespace, annotations } = owner.metadata
  try {
    const made = await writer.create(controllerrevisions, {
      metadata: { name, namespace, labels, annotations },
      data,
      revision: number,
    })
    if (!deepEqual(made.data, data)) {
      throw new RevisionTakenError(`controllerrevisions.apps "${name}" holds another revision`)
    }
  } catch (e) {
    throw isAlreadyExists(e) ? new RevisionTakenError(e.message) : e
  }
}
