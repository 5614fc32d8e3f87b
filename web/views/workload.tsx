import { useEffect, useRef, useState } from 'preact/hooks'
import { workloadColumns } from '../../src/dashboard/stream/columns.ts'
import { humanDuration } from '../../src/api/printing/duration.ts'
import type { ActionName, Branch, ConditionFact, WorkloadFact } from '../facts.ts'
import { conditionTone } from '../parts/condition-tone.ts'
import { Confirm, type Wish } from '../parts/confirm.tsx'
import { Cause, Conditions, Events, type Moment, Timeline } from '../parts/facts.tsx'
import { RolloutPicture } from '../parts/rollout-picture.tsx'
import { Failure, Notice, Section, Shape, StateChip, age, kindNames, states, toneOf } from '../parts/words.tsx'
import { workloadPath } from '../router.ts'
import { named } from '../stream/topics.ts'
import { useAsked, useNow, useTopic } from '../use.ts'
import { Bar } from './list.tsx'
import { Revisions } from './revisions.tsx'

/** The interval at which details are read again if the row has not changed. */
const refreshMs = 10_000

const titles: Readonly<Record<ActionName, string>> = {
  scale: 'Scale',
  pause: 'Pause',
  resume: 'Resume',
  restart: 'Restart',
  undo: 'Undo',
  partition: 'Set partition',
}

/** One workload: first the cause that blocks it, then the picture of its rollout, then all details. */
export function WorkloadView({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
  const now = useNow()
  const topic = useTopic('workloads', 250)
  const values = [...topic.mirror.rows.values()].find(
    (row) => row[0] === kind && row[1] === namespace && row[2] === name,
  )
  const row = values && named(workloadColumns, values)
  const asked = useAsked<WorkloadFact>('workload', { kind, namespace, name }, refreshMs, values?.join('|'))
  const [wish, setWish] = useState<Wish | undefined>(undefined)
  const [done, setDone] = useState('')
  const fact = asked.value
  if (asked.error && !fact)
    return <Failure code={asked.code} error={asked.error} what={`${kind} ${namespace}/${name}`} />
  if (!fact)
    return (
      <p class="wait" role="status">
        Reading {kind} {name} …
      </p>
    )
  const { explanation, may } = fact
  const state = row ? states[row.state]! : explanation.state
  const want = (action: ActionName) => setWish(wishOf(action, fact, { kind, namespace, name }))
  const closed = (message: string | undefined) => {
    setWish(undefined)
    if (message) setDone(message)
    asked.again()
  }
  return (
    <>
      <header class="title">
        <div>
          <p class="dim">
            <a href="/">Workloads</a> / {namespace} / {kind}
          </p>
          <h1>{name}</h1>
        </div>
        <StateChip state={state} />
        {row && <Bar row={row} />}
        <span class="dim">{explanation.since ? `for ${age(Date.parse(explanation.since), now)}` : ''}</span>
        <div class="actions" role="group" aria-label="Actions">
          {may.actions.map((action) => (
            <button key={action} onClick={() => want(action)}>
              {titles[action]}
            </button>
          ))}
        </div>
      </header>
      <p class={`headline ${toneOf(state)}`}>
        {explanation.message}
        {fact.schedule && ` (${fact.schedule})`}
      </p>
      {explanation.deadlineAtMs !== undefined && (
        <Deadline atMs={explanation.deadlineAtMs} seconds={fact.deadlineSeconds} now={now} />
      )}
      {done && (
        <p class="done" role="status">
          <Shape tone="good" /> {done}
        </p>
      )}
      {explanation.causes.length > 0 && (
        <section class="causes" aria-label="What is in its way">
          {explanation.causes.slice(0, 3).map((cause) => (
            <Cause key={cause.object.name + cause.what} cause={cause} namespace={namespace} now={now} />
          ))}
          {explanation.causes[0]!.object.kind === 'Pod' && may.deletePods && (
            <button
              onClick={() =>
                setWish({
                  title: 'Delete pod',
                  path: 'delete-pod',
                  body: { namespace, name: explanation.causes[0]!.object.name },
                })
              }
            >
              Delete pod {explanation.causes[0]!.object.name}
            </button>
          )}
        </section>
      )}
      {kind !== 'CronJob' && (
        <Section title="Pods">
          <RolloutPicture key={name} of={`${kind} ${namespace}/${name}`} namespace={namespace} />
        </Section>
      )}
      <Section title="Conditions">
        {fact.conditions.length > 0 ? (
          <>
            <ConditionTimeline fact={fact} now={now} />
            <Conditions conditions={fact.conditions} now={now} />
          </>
        ) : (
          <p class="dim">It has no conditions.</p>
        )}
      </Section>
      <Revisions
        of={{ kind, namespace, name }}
        generation={Number(fact.metadata.generation)}
        undo={
          may.actions.includes('undo')
            ? (revision) =>
                setWish({
                  title: `Undo to revision ${revision}`,
                  path: 'action',
                  body: { action: 'undo', revision: Number(revision), kind, namespace, name },
                })
            : undefined
        }
      />
      <div class="columns">
        <Section title="Events">
          <Events events={fact.events} now={now} />
        </Section>
        <Section title="Owners">
          <ul class="tree">
            <Tree branch={fact.tree} namespace={namespace} />
          </ul>
        </Section>
      </div>
      {fact.unread.length > 0 && (
        <Notice tone="warn" title="Not everything could be read">
          <p>{fact.unread.join(', ')}</p>
        </Notice>
      )}
      {wish && <Confirm wish={wish} done={closed} />}
    </>
  )
}

function wishOf(action: ActionName, fact: WorkloadFact, of: { kind: string; namespace: string; name: string }): Wish {
  const title = titles[action]
  const body = { action, ...of }
  if (action === 'scale')
    return {
      title,
      path: 'action',
      body,
      field: { name: 'replicas', label: 'Replicas', value: String(fact.replicas ?? 1) },
    }
  if (action === 'partition')
    return {
      title,
      path: 'action',
      body,
      field: {
        name: 'partition',
        label: 'Pods that keep the old revision',
        value: String(fact.partition),
        isText: true,
      },
    }
  return { title, path: 'action', body }
}

/** The remaining time until the progress deadline. */
function Deadline({ atMs, seconds, now }: { atMs: number; seconds: number; now: number }) {
  const leftMs = Math.max(0, atMs - now)
  const label =
    leftMs > 0
      ? `${humanDuration(leftMs)} of ${humanDuration(seconds * 1000)} left to make progress`
      : 'The progress deadline has passed'
  return (
    <div class="deadline">
      <span class="dim">{label}</span>
      <div
        class="track"
        role="progressbar"
        aria-label="Progress deadline"
        aria-valuemin={0}
        aria-valuemax={seconds}
        aria-valuenow={Math.round(leftMs / 1000)}
        aria-valuetext={label}
      >
        <i
          class={leftMs < seconds * 250 ? 'late' : ''}
          style={{ width: `${seconds > 0 ? (100 * leftMs) / (seconds * 1000) : 0}%` }}
        />
      </div>
    </div>
  )
}

const momentOf = (condition: ConditionFact): Moment => {
  const { type, status, reason, since } = condition
  return {
    at: Date.parse(since),
    label: `${type} ${status}${reason ? ` (${reason})` : ''}`,
    tone: conditionTone(condition),
  }
}

/** The last change of each condition, all changes since the page was opened, and the workload's creation. */
function ConditionTimeline({ fact, now }: { fact: WorkloadFact; now: number }) {
  const seen = useRef(new Map<string, Moment>())
  useEffect(() => seen.current.clear(), [fact.kind, fact.metadata.name, fact.metadata.namespace])
  for (const condition of fact.conditions) {
    const moment = momentOf(condition)
    seen.current.set(`${moment.label}${moment.at}`, moment)
  }
  return (
    <Timeline
      moments={[{ at: Date.parse(fact.metadata.created), label: 'Created', tone: 'none' }, ...seen.current.values()]}
      now={now}
    />
  )
}

const linked: readonly string[] = kindNames

const Tree = ({ branch, namespace }: { branch: Branch; namespace: string }) => (
  <li>
    <span class="dim">{branch.kind}</span>{' '}
    {linked.includes(branch.kind) ? (
      <a href={workloadPath(branch.kind, namespace, branch.name)}>{branch.name}</a>
    ) : (
      branch.name
    )}
    {branch.revision && <span class="dim"> revision {branch.revision}</span>} <span class="dim">{branch.note}</span>
    {branch.children.length > 0 && (
      <ul>
        {branch.children.map((child) => (
          <Tree key={child.name} branch={child} namespace={namespace} />
        ))}
      </ul>
    )}
  </li>
)
