export { nodeMetrics, podMetrics } from './kinds.ts'
export { MetricsApi } from './metrics-api.ts'
export { NodeScraper, askOverTls } from './node-scraper.ts'
