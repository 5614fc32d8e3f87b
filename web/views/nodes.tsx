import { useMemo } from 'preact/hooks'
import { nodeColumns } from '../../src/dashboard/stream/columns.ts'
import type { NodeFact } from '../facts.ts'
import { Conditions, Events } from '../parts/facts.tsx'
import { Ago, Failure, Notice, Section, StateChip, age, plural } from '../parts/words.tsx'
import { nodePath, podPath } from '../router.ts'
import { type NodeRow, named } from '../stream/topics.ts'
import { useAsked, useNow, useTopic } from '../use.ts'

const shownAtMost = 1000
const collator = new Intl.Collator('en', { numeric: true })

const toneFor = ({ ready, pressure, cordoned }: NodeRow): string =>
  ready !== 'True' ? 'bad' : pressure ? 'warn' : cordoned ? 'warn' : 'good'
const wordFor = ({ ready, cordoned }: NodeRow): string =>
  `${ready === 'True' ? 'Ready' : ready === 'False' ? 'NotReady' : 'Unknown'}${cordoned ? ', cordoned' : ''}`
const order = ['bad', 'warn', 'good']

/** All nodes, those with problems first. */
export function NodesView() {
  const topic = useTopic('nodes', 500)
  const now = useNow()
  const { mirror } = topic
  const nodes = useMemo(
    () =>
      [...mirror.rows.values()]
        .map((values) => named(nodeColumns, values))
        .sort((a, b) => order.indexOf(toneFor(a)) - order.indexOf(toneFor(b)) || collator.compare(a.name, b.name)),
    [mirror, mirror.version],
  )
  if (topic.error) return <Failure code={topic.error.code} error={topic.error.message} what="nodes" />
  if (mirror.isWhole && nodes.length === 0)
    return (
      <Notice title="There are no nodes">
        <p>
          Pods wait until there is one: <code>coxswain node --kubeconfig …</code>
        </p>
      </Notice>
    )
  return (
    <Section title={plural(nodes.length, 'node')}>
      <table class="facts">
        <thead>
          <tr>
            <th>Node</th>
            <th>State</th>
            <th>Pods</th>
            <th>Allocatable</th>
            <th>Version</th>
            <th>Since</th>
          </tr>
        </thead>
        <tbody>
          {nodes.slice(0, shownAtMost).map((node) => (
            <tr key={node.name}>
              <td>
                <a href={nodePath(node.name)}>{node.name}</a>
              </td>
              <td>
                <StateChip state={wordFor(node)} tone={toneFor(node)} />{' '}
                {node.pressure && <b class="warn">{node.pressure}</b>}
              </td>
              <td>
                <Pods node={node} />
              </td>
              <td class="dim">
                {node.cpu} CPU, {node.memory}
              </td>
              <td class="dim">{node.version}</td>
              <td class="dim">{age(node.since * 1000, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {nodes.length > shownAtMost && <p class="dim">{nodes.length - shownAtMost} more are not shown.</p>}
    </Section>
  )
}

/** The pods of a node, if they are known, and its capacity. */
function Pods({ node: { pods, capacity } }: { node: NodeRow }) {
  if (pods < 0) return <span class="dim">at most {capacity}</span>
  return (
    <span class="bar" role="img" aria-label={`${pods} of ${capacity} pods`}>
      <span class="track">
        <i class="new" style={{ width: `${capacity > 0 ? Math.min(100, (100 * pods) / capacity) : 0}%` }} />
      </span>
      <small>
        {pods}/{capacity}
      </small>
    </span>
  )
}

export function NodeView({ name }: { name: string }) {
  const asked = useAsked<NodeFact>('node', { name }, 5000)
  const now = useNow()
  const node = asked.value
  if (asked.error && !node) return <Failure code={asked.code} error={asked.error} what={`Node ${name}`} />
  if (!node)
    return (
      <p class="wait" role="status">
        Reading node {name} …
      </p>
    )
  const isReady = node.conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  return (
    <>
      <header class="title">
        <div>
          <p class="dim">
            <a href="/nodes">Nodes</a>
          </p>
          <h1>{name}</h1>
        </div>
        <StateChip
          state={`${isReady ? 'Ready' : 'NotReady'}${node.isCordoned ? ', cordoned' : ''}`}
          tone={isReady ? (node.isCordoned ? 'warn' : 'good') : 'bad'}
        />
        <span class="dim">
          created <Ago at={node.metadata.created} now={now} /> ago
          {node.taints.length > 0 && `, tainted ${node.taints.join(', ')}`}
        </span>
      </header>
      <Section title="Conditions">
        <Conditions conditions={node.conditions} now={now} />
      </Section>
      <div class="columns">
        <Section
          title={`${plural(node.podCount, 'pod')}${node.finishedCount > 0 ? `, ${node.finishedCount} finished` : ''}`}
        >
          {node.pods === null ? (
            <p class="dim">You may not list pods.</p>
          ) : (
            <ul class="links">
              {node.pods.map((pod) => (
                <li key={pod.namespace + pod.name}>
                  <a href={podPath(pod.namespace, pod.name)}>
                    {pod.namespace}/{pod.name}
                  </a>{' '}
                  <span class="dim">{pod.status}</span>
                </li>
              ))}
            </ul>
          )}
        </Section>
        <Section title="Events">
          <Events events={node.events} now={now} />
        </Section>
      </div>
    </>
  )
}
