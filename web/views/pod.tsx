import { useState } from 'preact/hooks'
import type { PodFact } from '../facts.ts'
import { Confirm, type Wish } from '../parts/confirm.tsx'
import { Cause, Conditions, Events } from '../parts/facts.tsx'
import { Log } from '../parts/log.tsx'
import { Terminal } from '../parts/terminal.tsx'
import { Ago, Failure, Section, Shape, StateChip, plural } from '../parts/words.tsx'
import { nodePath, workloadPath } from '../router.ts'
import { useAsked, useNow } from '../use.ts'

const toneFor = ({ ready, total, status }: PodFact): string =>
  status === 'Completed' || (ready === total && status === 'Running')
    ? 'good'
    : /Error|BackOff|Failed|Evicted|Lost/.test(status)
      ? 'bad'
      : 'busy'

type ContainerState = NonNullable<PodFact['containers'][number]['state']>

/** Formats a container's state: `running for 3m`, `ended with 1 (Error) 20s ago`. */
const Lived = ({ state: { word, since, reason }, now }: { state: ContainerState; now: number }) => (
  <>
    {word}
    {reason && ` ${reason}`}
    {since &&
      (word === 'running' ? (
        <>
          {' '}
          for <Ago at={since} now={now} />
        </>
      ) : (
        <>
          {' '}
          <Ago at={since} now={now} /> ago
        </>
      ))}
  </>
)

const steps = [
  ['PodScheduled', 'Scheduled'],
  ['PodReadyToStartContainers', 'Volumes, sandbox and network'],
  ['Initialized', 'Init containers'],
  ['ContainersReady', 'Containers ready'],
  ['Ready', 'Ready'],
] as const

/** The steps of a pod's start, each with its duration in seconds. */
function Start({ pod, now }: { pod: PodFact; now: number }) {
  const known = steps.flatMap(([type, title]) => {
    const condition = pod.conditions.find((one) => one.type === type)
    return condition ? [{ ...condition, title }] : []
  })
  // A pod without init containers is initialized before it has a sandbox.
  const inOrder = known.toSorted(
    (a, b) => Number(b.status === 'True') - Number(a.status === 'True') || Date.parse(a.since) - Date.parse(b.since),
  )
  const before = [pod.metadata.created, ...inOrder.map(({ since }) => since)]
  return (
    <table class="facts steps">
      <thead>
        <tr>
          <th>Step of its start</th>
          <th>Took</th>
          <th>Since</th>
        </tr>
      </thead>
      <tbody>
        {inOrder.map(({ type, title, status, reason, message, since }, i) => (
          <tr key={type}>
            <td>
              <Shape tone={status === 'True' ? 'good' : 'warn'} /> {title}
              {status !== 'True' && (
                <span class="dim">
                  {' '}
                  {reason} {message}
                </span>
              )}
            </td>
            <td>{status === 'True' ? `${Math.max(0, (Date.parse(since) - Date.parse(before[i]!)) / 1000)}s` : ''}</td>
            <td class="dim">
              <Ago at={since} now={now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** One pod. */
export function PodView({ namespace, name }: { namespace: string; name: string }) {
  const asked = useAsked<PodFact>('pod', { namespace, name }, 3000)
  const now = useNow()
  const [wish, setWish] = useState<Wish | undefined>(undefined)
  const [tab, setTab] = useState<'log' | 'shell'>('log')
  const [chosen, choose] = useState<string | undefined>(undefined)
  const pod = asked.value
  if (asked.error && !pod) return <Failure code={asked.code} error={asked.error} what={`Pod ${namespace}/${name}`} />
  if (!pod)
    return (
      <p class="wait" role="status">
        Reading pod {name} …
      </p>
    )
  const { may, root, explanation, sandboxEvents } = pod
  const container =
    pod.containers.find((one) => one.name === chosen) ??
    pod.containers.find(({ isInit }) => !isInit) ??
    pod.containers[0]
  const rootName = root?.key.slice(root.key.indexOf('/') + 1)
  return (
    <>
      <header class="title">
        <div>
          <p class="dim">
            <a href="/">Workloads</a> / {namespace}{' '}
            {root && rootName && (
              <>
                /{' '}
                <a href={workloadPath(root.kind, namespace, rootName)}>
                  {root.kind} {rootName}
                </a>
              </>
            )}
          </p>
          <h1>{name}</h1>
        </div>
        <StateChip state={pod.status} tone={toneFor(pod)} />
        <span class="dim">
          {pod.ready}/{pod.total} ready{pod.restarts > 0 ? `, ${plural(pod.restarts, 'restart')}` : ''}
        </span>
        <div class="actions">
          {may.delete && (
            <button onClick={() => setWish({ title: 'Delete pod', path: 'delete-pod', body: { namespace, name } })}>
              Delete
            </button>
          )}
        </div>
      </header>
      <p class="dim">
        {pod.node ? (
          <>
            on <a href={nodePath(pod.node)}>{pod.node}</a>
          </>
        ) : (
          'on no node yet'
        )}
        {pod.ip && `, ${pod.ip}`}
        {pod.qos && `, ${pod.qos}`}, created <Ago at={pod.metadata.created} now={now} /> ago
      </p>
      {explanation.causes.length > 0 && (
        <section class="causes" aria-label="What is in its way">
          {explanation.causes.map((cause) => (
            <Cause key={cause.what} cause={cause} namespace={namespace} now={now} />
          ))}
        </section>
      )}
      <Section title="Containers">
        <table class="facts">
          <thead>
            <tr>
              <th>Container</th>
              <th>State</th>
              <th>Restarts</th>
              <th>Probes</th>
            </tr>
          </thead>
          <tbody>
            {pod.containers.map((one) => (
              <tr key={one.name}>
                <td>
                  <b>{one.name}</b>
                  {one.isInit && ' (init)'}
                  <br />
                  <span class="dim">
                    {one.image} {one.ports.join(' ')}
                  </span>
                </td>
                <td>
                  <Shape tone={one.isReady ? 'good' : one.state?.word === 'running' ? 'busy' : 'none'} />{' '}
                  {one.state ? <Lived state={one.state} now={now} /> : 'not started'}
                  {one.last && (
                    <>
                      <br />
                      <span class="dim">
                        before: <Lived state={one.last} now={now} />
                      </span>
                    </>
                  )}
                </td>
                <td>{one.restarts}</td>
                <td class="dim">
                  {one.probes.length > 0 ? one.probes.map((probe) => <div key={probe}>{probe}</div>) : 'none'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      {container && (may.logs || may.exec) && (
        <Section
          title={tab === 'log' ? 'Log' : 'Shell'}
          aside={
            <div class="tabs" role="group" aria-label="Log or shell">
              {pod.containers.length > 1 && (
                <select aria-label="Container" value={container.name} onChange={(e) => choose(e.currentTarget.value)}>
                  {pod.containers.map((one) => (
                    <option key={one.name}>{one.name}</option>
                  ))}
                </select>
              )}
              {may.logs && (
                <button aria-pressed={tab === 'log'} onClick={() => setTab('log')}>
                  Log
                </button>
              )}
              {may.exec && (
                <button aria-pressed={tab === 'shell'} onClick={() => setTab('shell')}>
                  Shell
                </button>
              )}
            </div>
          }
        >
          {tab === 'log' && may.logs ? (
            <Log
              key={container.name}
              namespace={namespace}
              pod={name}
              container={container.name}
              hasPrevious={container.hasPrevious}
            />
          ) : tab === 'log' ? (
            <p class="dim">You may not read its log.</p>
          ) : (
            <Terminal key={container.name} namespace={namespace} pod={name} container={container.name} />
          )}
        </Section>
      )}
      <div class="columns">
        <Section title="Start and sandbox">
          <Start pod={pod} now={now} />
          {sandboxEvents.length > 0 && <Events events={sandboxEvents} now={now} />}
        </Section>
        <Section title="Events">
          <Events events={pod.events} now={now} />
        </Section>
      </div>
      <Section title="Conditions">
        <Conditions conditions={pod.conditions} now={now} />
      </Section>
      {wish && (
        <Confirm
          wish={wish}
          done={() => {
            setWish(undefined)
            asked.again()
          }}
        />
      )}
    </>
  )
}
