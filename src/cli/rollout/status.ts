import type { Cause } from '../../api/explain/index.ts'
import { notFound } from '../../api/errors.ts'
import { labelSelectorText } from '../../api/selectors/label-selector.ts'
import { CommandError, exitCodes } from '../../insight/failure.ts'
import { type Session, say } from '../session.ts'
import { oneLine, painted } from '../terminal/line.ts'
import { LiveView } from '../terminal/live.ts'
import { type Explanation, explainWorkload } from '../../insight/workload/explanation.ts'
import { causeLines } from '../why/text.ts'
import { readWorkload } from '../why/run.ts'
import { isInTheWay } from '../../insight/workload/explained.ts'
import { Bell, Watches, checkUntil, watchedSource } from '../workload/follow.ts'
import { type Source, askingSource } from '../../insight/workload/own-pods.ts'
import { type WorkloadKind, quotedName, selectorOf, shortName } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { objectsNamed } from '../workload/names.ts'
import { Reader } from '../../insight/workload/reader.ts'
import { standingOf } from '../../insight/workload/standing.ts'
import { progressLines } from './progress-view.ts'
import { type Verdict, verdictOf } from './verdict.ts'

export interface RolloutStatusOptions {
  args: readonly string[]
  /** Undefined waits without a limit. */
  timeoutMs: number | undefined
  /** True to wait for the end; false to report the current state. */
  watch: boolean
  /** True to draw progress bars at a terminal. */
  live: boolean
}

const tickMs = 1000
const memoryMs = 3000

/** Time without progress before causes are determined: explaining many pods is expensive. */
const quietMs = 2000

/**
 * `coxswain rollout status` and `rollout watch`: follow rollouts sequentially until each is over. Stop at the first
 * failure.
 */
export async function runRolloutStatus(session: Session, options: RolloutStatusOptions): Promise<number> {
  const { clock } = session
  const deadlineMs = options.timeoutMs === undefined ? Infinity : clock.now() + options.timeoutMs
  let worst: number = exitCodes.ok
  for (const { kind, name } of await objectsNamed(session.client, options.args)) {
    if (kind.kind === 'CronJob')
      throw new CommandError(`${quotedName(kind, name)}: a CronJob has no rollout; see the status of its Jobs`)
    const object = await readWorkload(session, kind, name)
    if (!options.watch) worst = Math.max(worst, await tellOnce(session, kind, object))
    else {
      const code = await followRollout(session, kind, object, deadlineMs, options.live && session.out.isTerminal)
      if (code !== exitCodes.ok) return code
    }
  }
  return worst
}

async function tellOnce(session: Session, kind: WorkloadKind, object: Workload): Promise<number> {
  const verdict = verdictOf(kind, object)
  if (verdict.kind === 'failed') {
    await sayFailure(session, verdict.text, await explainWorkload(session, kind, object))
    return exitCodes.trouble
  }
  say(session.out, verdict.text)
  return verdict.kind === 'waiting' ? exitCodes.waits : exitCodes.ok
}

/** Reports the progress of a rollout. */
interface Teller {
  /** Called at each check. `explain` determines the causes. */
  tell(object: Workload, verdict: Verdict, explain: () => Promise<Explanation>): Promise<void>
  close(): void
}

async function followRollout(
  session: Session,
  kind: WorkloadKind,
  first: Workload,
  deadlineMs: number,
  isLive: boolean,
): Promise<number> {
  const { clock } = session
  const { namespace = '', name = '' } = first.metadata
  const bell = new Bell()
  const watches = new Watches(session, bell)
  const reader = new Reader(session.client, { clock, maxAgeMs: memoryMs })
  const teller = isLive ? liveTeller(session, kind) : plainTeller(session)
  try {
    const informer = watches.follow(kind.type, { namespace, fieldSelector: `metadata.name=${name}` })
    const selector = selectorOf(kind, first)
    const source: Source =
      isLive && selector
        ? watchedSource(watches, { namespace, labelSelector: labelSelectorText(selector) })
        : askingSource(reader)
    const explain = (object: Workload) => () => explainWorkload(session, kind, object, { reader, source })
    let read: Workload | undefined = first
    const current = async (): Promise<Workload | undefined> => {
      if (informer.hasSynced) return informer.get(`${namespace}/${name}`)
      // Without permission to watch, the object is read each time.
      const object = read ?? (await readWorkload(session, kind, name))
      read = undefined
      return object
    }
    return await checkUntil(
      session,
      bell,
      () => Math.min(tickMs, deadlineMs - clock.now()),
      async () => {
        const object = await current()
        if (!object) throw notFound({ group: kind.type.group, resource: kind.type.plural }, name)
        const verdict = verdictOf(kind, object)
        await teller.tell(object, verdict, explain(object))
        if (verdict.kind === 'done' || verdict.kind === 'held') return exitCodes.ok
        const isOver = verdict.kind === 'failed'
        if (!isOver && clock.now() < deadlineMs) return undefined
        teller.close()
        await sayFailure(
          session,
          isOver ? verdict.text : `timed out waiting for ${shortName(kind, object)}`,
          await explain(object)(),
        )
        return isOver ? exitCodes.trouble : exitCodes.timedOut
      },
    )
  } finally {
    teller.close()
    watches.stop()
  }
}

/** Prints the error, and the first cause with its remedy. */
export async function sayFailure(
  { err, clock }: Session,
  text: string,
  { causes, unread }: Explanation,
): Promise<void> {
  say(err, `error: ${text}`)
  const cause = causes.find(isInTheWay)
  if (cause) for (const line of causeLines(cause, clock.now())) say(err, painted(line, err.hasColour))
  if (unread.length > 0) say(err, `Could not be read: ${unread.join(', ')}.`)
}

/** Prints each new sentence once, and the cause of a delay. */
function plainTeller({ out, clock }: Session): Teller {
  let told = ''
  let toldCause = ''
  let movedAtMs = clock.now()
  const isWorthTelling = (cause: Cause) => isInTheWay(cause) && cause.weight !== 'starting'
  return {
    async tell(object, { kind: verdict, text }, explain) {
      if (text !== told) {
        if (verdict !== 'failed') say(out, text)
        told = text
        movedAtMs = clock.now()
      }
      const isPaused = object.spec?.paused || object.spec?.updateStrategy?.paused
      if (verdict !== 'waiting' || (clock.now() - movedAtMs < quietMs && !isPaused)) return
      const cause = (await explain()).causes.find(isWorthTelling)
      const sentence = cause ? oneLine(`${cause.object.kind} ${cause.object.name} ${cause.text}`) : ''
      if (sentence && sentence !== toldCause) say(out, `  ${sentence}.`)
      toldCause = sentence
    },
    close: () => {},
  }
}

function liveTeller({ out, clock }: Session, kind: WorkloadKind): Teller {
  const view = new LiveView(out)
  return {
    async tell(object, { kind: verdict, text }, explain) {
      const nowMs = clock.now()
      const { causes } = verdict === 'waiting' ? await explain() : { causes: [] }
      const lines = progressLines(
        kind,
        object,
        standingOf(kind, object, nowMs),
        causes.filter(isInTheWay),
        out.columns,
        nowMs,
      )
      view.draw(verdict === 'done' || verdict === 'held' ? [...lines, [{ text, tone: 'good' }]] : lines)
    },
    close: () => view.close(),
  }
}
