import { conflictModified } from '../../api/errors.ts'
import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import { isAlreadyExists, isInvalid, replicasets } from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { HashCollision } from './hash-collision.ts'
import type { Action } from './plan.ts'
import { createErrorText } from './progress.ts'
import { isSameTemplate } from './replica-sets.ts'

type Context = ApplyContext<Deployment>
type Change = Action & { kind: 'Change' }

export const appliers: Appliers<Deployment, Action> = {
  Adopt: ({ writer }, { set }) => writer.adopt(replicasets, set),
  Release: ({ writer }, { set }) => writer.release(replicasets, set),
  Create: { run: create, failed: (error, action) => ({ reason: 'ReplicaSetCreateError', message: createErrorText(action, error) }) },
  Change: change,
  Delete: { pace: 'all at once', run: ({ writer }, { set }) => writer.delete(replicasets, set) },
}

async function create(ctx: Context, { set }: Action & { kind: 'Create' }): Promise<void> {
  const { writer, owner } = ctx
  const made = await writer.create<ReplicaSet>(replicasets, set).catch((e: unknown) => {
    throw isAlreadyExists(e) ? new HashCollision(set.metadata.name!) : e
  })
  // One of our own has this name for another template.
  if (!isSameTemplate(made.spec.template, owner.spec.template)) throw new HashCollision(made.metadata.name!)
  tellScaling(ctx, made.metadata.name!, 0, made.spec.replicas ?? 0)
}

/**
 * Changes a ReplicaSet whose spec is still the one that was decided about. Its generation tells; its version would not do, as its own controller is
 * writing its status all the time.
 */
async function change(ctx: Context, action: Change): Promise<void> {
  const { set, from, to, annotations, minReadySeconds } = action
  const patch = [
    { op: 'test', path: '/metadata/generation', value: set.generation },
    ...(from === to ? [] : [{ op: 'replace', path: '/spec/replicas', value: to }]),
    ...(minReadySeconds === undefined ? [] : [{ op: 'add', path: '/spec/minReadySeconds', value: minReadySeconds }]),
    ...(set.hasAnnotations ? [] : [{ op: 'add', path: '/metadata/annotations', value: {} }]),
    ...Object.entries(annotations).map(([key, value]) => ({ op: 'add', path: `/metadata/annotations/${escape(key)}`, value })),
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
  if (from !== to) event('Normal', 'ScalingReplicaSet', `Scaled ${to > from ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`)
}
