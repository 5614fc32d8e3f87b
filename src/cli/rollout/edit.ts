import type { Int64 } from '../../api/numbers/int64.ts'
import { exitCodes } from '../../insight/failure.ts'
import { type Session, say } from '../session.ts'
import { readWorkload } from '../why/run.ts'
import { type Edit, pauseOf, restartOf, undoOf } from '../../insight/workload/edit.ts'
import { type WorkloadKind, fullName } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { objectsNamed } from '../workload/names.ts'
import { revisionsOf } from '../../insight/workload/revisions.ts'

export interface EditOptions {
  args: readonly string[]
  dryRun: boolean
}

/** Returns the change of a workload, or throws a CommandError. */
type Decide = (session: Session, kind: WorkloadKind, object: Workload) => Edit | Promise<Edit>

async function editEach(session: Session, { args, dryRun }: EditOptions, decide: Decide): Promise<number> {
  const { client, namespace, out } = session
  for (const { kind, name } of await objectsNamed(client, args)) {
    const { told, patch } = await decide(session, kind, await readWorkload(session, kind, name))
    if (patch)
      await client.patch(kind.type, namespace, name, patch.body, {
        type: patch.type,
        fieldManager: 'coxswain-rollout',
        dryRun,
      })
    say(out, `${fullName(kind, name)} ${told}${dryRun ? ' (server dry run)' : ''}`)
  }
  return exitCodes.ok
}

/** `coxswain rollout restart` */
export const runRestart = (session: Session, options: EditOptions): Promise<number> =>
  editEach(session, options, ({ clock }, kind, object) => restartOf(kind, object, clock.now()))

/** `coxswain rollout pause` and `resume` */
export const runPause = (session: Session, options: EditOptions, paused: boolean): Promise<number> =>
  editEach(session, options, (_, kind, object) => pauseOf(kind, object, paused))

/** `coxswain rollout undo` */
export const runUndo = (session: Session, options: EditOptions, toRevision: Int64): Promise<number> =>
  editEach(session, options, async ({ client, program }, kind, object) =>
    undoOf(kind, object, await revisionsOf(client, kind, object), toRevision, program),
  )
