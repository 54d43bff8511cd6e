# Built and checked in one stage, installed for running in another; the image holds neither compiler nor sources.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-bookworm-slim AS modules
WORKDIR /modules
COPY package.json package-lock.json ./
# Optional packages are a Node for older machines, and a faster native reader that is not needed.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production TIDEMARK_HOST=0.0.0.0 TIDEMARK_PORT=8080 TIDEMARK_DATA_DIR=/data
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=modules /modules/node_modules ./node_modules
COPY --from=build /build/dist ./dist
RUN install -d -m 0700 -o 1000 -g 1000 /data
# As a number, so that a cluster can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.TIDEMARK_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without a shell in between: the server is process 1 and gets the signals itself. It starts no processes that would have to be reaped.
CMD ["node", "--max-semi-space-size=8", "dist/src/main.js"]
