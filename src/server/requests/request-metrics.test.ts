import { expect, it } from 'vitest'
import { MetricsRegistry } from '../../base/metrics.ts'
import { RequestMetrics, type RequestKind } from './request-metrics.ts'

const kind = (more: Partial<RequestKind> = {}): RequestKind => ({ verb: 'GET', group: '', version: 'v1', resource: 'pods', subresource: '', scope: 'resource', ...more })

it('RequestMetrics counts by code and times by kind, under the names of Kubernetes', () => {
  const registry = new MetricsRegistry()
  const metrics = new RequestMetrics(registry)
  metrics.done(kind(), 200, false, 0.01)
  metrics.done(kind(), 200, false, 0.3)
  metrics.done(kind(), 404, false, 0.001)
  metrics.done(kind({ verb: 'POST' }), 201, true, 0.001)
  const text = registry.text()
  const labels = 'verb="GET",group="",version="v1",resource="pods",subresource="",scope="resource",component="apiserver",dry_run=""'
  expect(text).toContain(`apiserver_request_total{${labels},code="200"} 2\n`)
  expect(text).toContain(`apiserver_request_total{${labels},code="404"} 1\n`)
  expect(text).toContain('dry_run="All",code="201"} 1')
  expect(text).toContain(`apiserver_request_duration_seconds_count{${labels}} 3\n`)
  expect(text).toContain(`apiserver_request_duration_seconds_bucket{${labels},le="0.025"} 2\n`)
})

it('RequestMetrics counts watches, and does not time them', () => {
  const registry = new MetricsRegistry()
  const metrics = new RequestMetrics(registry)
  metrics.done(kind({ verb: 'WATCH' }), 200, false, 1800)
  const open = metrics.watching(kind({ verb: 'WATCH' }))
  open.inc()
  open.inc()
  open.inc(-1)
  expect(registry.text()).toMatch(/apiserver_longrunning_requests\{verb="WATCH".*\} 1\n/)
  expect(registry.text()).not.toContain('apiserver_request_duration_seconds_count')
})
