import type { ControllersFact } from '../facts.ts'
import { Failure, Notice, Section, Shape } from '../parts/words.tsx'
import { useAsked } from '../use.ts'

const seconds = (value: number): string =>
  value === 0 ? '0' : value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`
const lagTone = (value: number): string => (value >= 10 ? 'bad' : value >= 1 ? 'warn' : 'good')

/** Queues and lag of the controllers of the API server's process. */
export function ControllersView() {
  const asked = useAsked<ControllersFact>('controllers', {}, 2000)
  if (asked.error && !asked.value) return <Failure code={asked.code} error={asked.error} what="Controllers" />
  if (!asked.value)
    return (
      <p class="wait" role="status">
        Reading metrics …
      </p>
    )
  const { controllers, caches } = asked.value
  if (controllers.length === 0)
    return (
      <Notice title="The API server runs no controllers itself">
        <p>Where they serve their metrics, this command shows the same:</p>
        <pre>coxswain top controllers --metrics-url https://…</pre>
      </Notice>
    )
  return (
    <>
      <Section title="Controllers">
        <table class="facts numbers">
          <thead>
            <tr>
              <th>Controller</th>
              <th>Queue</th>
              <th>Lag</th>
              <th>Longest run</th>
              <th>Reconciles</th>
              <th>Errors</th>
              <th>Retries</th>
              <th>Stale skips</th>
            </tr>
          </thead>
          <tbody>
            {controllers.map((one) => (
              <tr key={one.name}>
                <td>{one.name}</td>
                <td>{one.depth}</td>
                <td>
                  <Shape tone={lagTone(one.lagSeconds)} /> {seconds(one.lagSeconds)}
                </td>
                <td>{seconds(one.busySeconds)}</td>
                <td>{one.reconciles.toLocaleString('en')}</td>
                <td>{one.errors}</td>
                <td>{one.retries}</td>
                <td>{one.staleSkips}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title="Caches">
        <table class="facts numbers">
          <thead>
            <tr>
              <th>Cache</th>
              <th>Objects</th>
              <th>Lag</th>
              <th>Silent for</th>
            </tr>
          </thead>
          <tbody>
            {caches.map((one) => (
              <tr key={one.name}>
                <td>{one.name}</td>
                <td>{one.objects.toLocaleString('en')}</td>
                <td>
                  <Shape tone={lagTone(one.lagSeconds)} /> {seconds(one.lagSeconds)}
                </td>
                <td>{seconds(one.silentSeconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </>
  )
}
