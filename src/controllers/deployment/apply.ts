import { ApiError, conflictModified } from '../../api/errors.ts'
import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import { type New, isAlreadyExists, isInvalid, replicasets } from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { type Annotations, isSameTemplate } from './replica-sets.ts'

/** The ReplicaSet to change, and the generation that the decision is based on. */
export interface Changed {
  name: string
  generation: Int64
  hasAnnotations: boolean
}

export type Action =
  | { kind: 'Adopt'; set: ReplicaSet }
  | { kind: 'Release'; set: ReplicaSet }
  | { kind: 'Create'; set: New<ReplicaSet> }
  | { kind: 'Change'; set: Changed; from: number; to: number; annotations: Annotations; minReadySeconds?: number }
  | { kind: 'Delete'; set: ReplicaSet }

/**
 * The name derived from a template's hash belongs to another ReplicaSet. This is a conflict, which the next attempt
 * resolves with another hash and does not report.
 */
export class HashCollision extends ApiError {
  constructor(name: string) {
    super(409, 'Conflict', `the name ${name} belongs to another ReplicaSet`)
  }
}

type Context = ApplyContext<Deployment>
type Change = Action & { kind: 'Change' }

export const apply: Appliers<Deployment, Action> = {
  Adopt: ({ writer }, { set }) => writer.adopt(replicasets, set),
  Release: ({ writer }, { set }) => writer.release(replicasets, set),
  Create: {
    run: create,
    failed: (error, action) => ({ reason: 'ReplicaSetCreateError', message: createErrorText(action, error) }),
  },
  Change: change,
  Delete: { pace: 'all at once', run: ({ writer }, { set }) => writer.delete(replicasets, set) },
}

async function create(ctx: Context, { set }: Action & { kind: 'Create' }): Promise<void> {
  const { writer, owner } = ctx
  const made = await writer.create<ReplicaSet>(replicasets, set).catch((e: unknown) => {
    throw isAlreadyExists(e) ? new HashCollision(set.metadata.name!) : e
  })
  // A ReplicaSet of this Deployment has the name for another template.
  if (!isSameTemplate(made.spec.template, owner.spec.template)) throw new HashCollision(made.metadata.name!)
  tellScaling(ctx, made.metadata.name!, 0, made.spec.replicas ?? 0)
}

/**
 * Changes a ReplicaSet if its spec has not changed since the decision. The test uses the generation, because the
 * ReplicaSet controller writes the status, and so the version, all the time.
 */
async function change(ctx: Context, action: Change): Promise<void> {
  const { set, from, to, annotations, minReadySeconds } = action
  const patch = [
    { op: 'test', path: '/metadata/generation', value: set.generation },
    ...(from === to ? [] : [{ op: 'replace', path: '/spec/replicas', value: to }]),
    ...(minReadySeconds === undefined ? [] : [{ op: 'add', path: '/spec/minReadySeconds', value: minReadySeconds }]),
    ...(set.hasAnnotations ? [] : [{ op: 'add', path: '/metadata/annotations', value: {} }]),
    ...Object.entries(annotations).map(([key, value]) => ({
      op: 'add',
      path: `/metadata/annotations/${escape(key)}`,
      value,
    })),
  ]
  const { namespace } = ctx.owner.metadata
  try {
    await ctx.writer.patch(replicasets, { metadata: { namespace, name: set.name } }, patch, { type: 'json' })
  } catch (e) {
    throw isInvalid(e) ? conflictModified({ group: replicasets.group, resource: replicasets.plural }, set.name) : e
  }
  tellScaling(ctx, set.name, from, to)
}

/** A key as a part of a JSON pointer. */
const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

function tellScaling({ event }: Context, name: string, from: number, to: number): void {
  if (from !== to) {
    event(
      'Normal',
      'ScalingReplicaSet',
      `Scaled ${to > from ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`,
    )
  }
}

/** The message for a rejected ReplicaSet of a new revision. */
export const createErrorText = ({ set }: Action & { kind: 'Create' }, error: Error): string =>
  `Failed to create new replica set ${JSON.stringify(set.metadata.name)}: ${error.message}`
