import { defineConfig } from 'vite'

export default defineConfig({
  base: './',
  build: { target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: true },
  // for work on the console: `rossum serve` beside `npx vite`
  server: { proxy: { '/api': { target: 'http://127.0.0.1:1920', ws: true } } },
})
