# The nebula command and server. `docker build -t nebula .` in a clone; then
#   docker run -p 7777:7777 -v nebula-data:/data -v "$PWD":/project nebula
# serves the workflows of the current folder. The first user: docker exec -it … nebula users add ada --admin

FROM node:24-slim AS build
WORKDIR /src
COPY . .
RUN npm ci
RUN npm run pack

FROM node:24-slim
WORKDIR /opt/nebula
COPY --from=build /src/dist/tarballs/ /opt/tarballs/
RUN npm install --no-save --ignore-scripts --no-audit --no-fund /opt/tarballs/*.tgz && npm cache clean --force && rm -r /opt/tarballs
RUN install -d -o node -g node /data /project
ENV NODE_ENV=production
ENV NEBULA_DATA_DIR=/data
ENV PATH=/opt/nebula/node_modules/.bin:$PATH
WORKDIR /project
USER node
VOLUME /data
EXPOSE 7777
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:7777/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["nebula"]
CMD ["serve", "--preset", "selfhost", "--host", "0.0.0.0", "--port", "7777"]
