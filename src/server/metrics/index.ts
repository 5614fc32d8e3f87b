export { MetricsApi } from './metrics-api.ts'
export { NodeScraper, askOverTls } from './node-scraper.ts'
